"""A network's variables as a table of text, as in Lingvo's `model_analysis.txt`."""

from .description import Network


def model_analysis(network: Network) -> str:
    """Return a line for each variable: its name, shape and number of parameters; then a rule and the total."""
    variables = sorted(network.variables, key=lambda variable: variable.name)
    names = max(len(variable.name) for variable in variables)
    shapes = max(len(str(variable.shape)) for variable in variables)
    sizes = max(len(str(variable.size)) for variable in variables)
    lines = [f"{variable.name:{names}}  {variable.shape!s:{shapes}}  {variable.size:{sizes}}" for variable in variables]
    total = sum(variable.size for variable in variables)
    return "\n".join([*lines, "=" * max(map(len, lines)), f"total #params: {total}", ""])
