import faithkit

raise faithkit.errors.InputError("There is no licence.")
