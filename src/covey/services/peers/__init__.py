"""The peers' wire: foreign programs on a broker, as agents and sessions of the space."""
