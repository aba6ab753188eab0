"""The cluster as the suite knows it."""

import os
import pathlib
import shutil
import subprocess


class KindCluster:
    """The cluster behind KUBECONFIG."""

    def __init__(self, name=None, image=None):
        """Takes what says which cluster to make."""
        self.name = name
        self.kubeconfig_path = pathlib.Path(os.environ["KUBECONFIG"])
        self.kubectl_path = pathlib.Path(shutil.which("kubectl"))

    def create(self):
        """Does nothing: the cluster is there."""

    def delete(self):
        """Does nothing: the cluster ends with the program that started it."""

    def kubectl(self, *arguments):
        """Returns the output of kubectl."""
        return subprocess.check_output([self.kubectl_path, *arguments], encoding="utf-8")
