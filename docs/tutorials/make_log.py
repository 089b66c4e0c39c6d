"""Write the log of a year: a bank that explains its decisions, and changes its rule in July."""

import json

import faithkit

people = faithkit.load_dataset("loans").X[["age", "income", "debt", "housing", "arrears"]]


def first_rule(X):
    """Grant a loan to who has little debt and no arrears."""
    return ~X["arrears"] & (X["debt"] <= 0.35)


def second_rule(X):
    """Grant it to wealthy owners, too."""
    return first_rule(X) | (~X["arrears"] & (X["housing"] == "own") & (X["income"] > 40_000))


# the explanations are made for the first rule, all year long
told = faithkit.evaluate(first_rule, people, explainer="tree:max_depth=2", background=people)

log = people.assign(quarter=[f"Q{1 + row // 500}" for row in range(len(people))])
granted = first_rule(people).where(log["quarter"] < "Q3", second_rule(people))
log["decision"] = granted.map({True: "granted", False: "refused"})
log["phi_debt"] = 0.35 - people["debt"]
log["phi_arrears"] = -0.5 * people["arrears"]
log["rule"] = [json.dumps(rule.to_json()) for rule in told.sample.explanations.values]
log.loc[7, ["phi_debt", "phi_arrears", "rule"]] = None  # one decision was not explained
log.to_parquet("loans.parquet")
log.to_csv("loans.csv", index=False)
