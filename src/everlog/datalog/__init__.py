"""The rule language: values, syntax, reading, printing, safety and stratification."""
