"""The modules of *Modular*: rules with algorithms of their own, behind the functions of its Table 1."""
