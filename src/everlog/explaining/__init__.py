"""Why a fact holds: proofs, found when somebody asks, over what the engine has."""
