"""What a sentence says of a figure: arm, scope, type, version, and what is compared with what."""
