"""Where memory is kept: the engine contract, the engines, and one repository per aggregate."""
