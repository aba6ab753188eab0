"""Lets the operator run without a peering object, whose regular writes would be points of plans."""

import fastflow  # noqa: F401 # Its settings come first.
import kopf


@kopf.on.startup()
def alone(settings, **_):
    settings.peering.standalone = True
    settings.peering.mandatory = False
