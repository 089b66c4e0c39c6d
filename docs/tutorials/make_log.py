"""Write the log of a bank that explains its decisions for a year, and changes its rule in July."""

import json

import faithkit

people = faithkit.load_dataset("loans").X[["age", "income", "debt", "housing", "arrears"]]


def first_rule(X):
    """Grant a loan to applicants with little debt and no arrears."""
    return ~X["arrears"] & (X["debt"] <= 0.35)


def second_rule(X):
    """Grant a loan also to owners of a house with a high income."""
    return first_rule(X) | (~X["arrears"] & (X["housing"] == "own") & (X["income"] > 40_000))


# all explanations of the year explain the first rule
result = faithkit.evaluate(first_rule, people, explainer="tree:max_depth=2", background=people)

log = people.assign(quarter=[f"Q{1 + row // 500}" for row in range(len(people))])
is_granted = first_rule(people).where(log["quarter"] < "Q3", second_rule(people))
log["decision"] = is_granted.map({True: "granted", False: "refused"})
log["phi_debt"] = 0.35 - people["debt"]
log["phi_arrears"] = -0.5 * people["arrears"]
log["rule"] = [json.dumps(rule.to_json()) for rule in result.rows.explanations.values]
log.loc[7, ["phi_debt", "phi_arrears", "rule"]] = None  # one decision was not explained
log.to_parquet("loans.parquet")
log.to_csv("loans.csv", index=False)
