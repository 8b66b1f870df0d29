"""The doctor: examinations of a space, area by area, and the repair of what they find."""
