import faithkit

raise faithkit.InputError("There is no licence.")
