#!/usr/bin/python3
"""What scripts/quickstart and scripts/check do about missing packages and wrong
arguments. They run with a PATH of stand-ins, so that nothing is installed."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What the scripts use besides what stands in for it below.
REAL_PROGRAMS = (
    "bash cat cut dirname env grep head id mkdir paste readlink rm sed tail tee true xargs".split()
)

# Every package is installed but those in MISSING and LEFT_OVER.
DPKG_QUERY = """#!/bin/bash
for package in "${@:3}"; do
  case " $MISSING $LEFT_OVER " in
  *" $package "*) ;;
  *) echo "$package installed" ;;
  esac
done
[ -z "$LEFT_OVER" ] || echo "$LEFT_OVER config-files"
[ -z "$MISSING" ]
"""
ID = '#!/bin/bash\necho "$USER_ID"\n'
# What apt-get is asked goes where the script's own words go.
APT_GET = '#!/bin/bash\necho "apt-get called with ${*:4}" >>"$SAID"\nexit "$APT_STATUS"\n'
INSTALLED = "apt-get called with install --yes --no-install-recommends"
SUDO = '#!/bin/bash\n[ "$SUDO_WORKS" = yes ] && shift && exec "$@"\n'
PRESENT = "#!/bin/bash\n"

REQUIRE = """
root=$1
. "$2/scripts/lib/output.sh"
. "$2/scripts/lib/packages.sh"
packages_require build
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.said = self.folder / "said"
        (self.folder / "bin").mkdir()
        for name in REAL_PROGRAMS:
            (self.folder / "bin" / name).symlink_to(shutil.which(name))
        for name in ("cc", "cmake", "ninja", "pkg-config", "protoc-c"):
            self.write_program(name, PRESENT)
        self.write_program("dpkg-query", DPKG_QUERY)
        self.write_program("apt-get", APT_GET)
        self.write_program("sudo", SUDO)
        self.write_program("id", ID)

    def write_program(self, name, text):
        path = self.folder / "bin" / name
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def remove_program(self, name):
        (self.folder / "bin" / name).unlink()

    def run_script(self, *command, **settings):
        """The exit status, and what the script and apt-get said, in order."""
        defaults = {"MISSING": "", "LEFT_OVER": "", "USER_ID": "0", "APT_STATUS": "0"}
        environment = {"PATH": str(self.folder / "bin"), "SAID": str(self.said)}
        with open(self.said, "a", encoding="utf-8") as said:
            result = subprocess.run(
                command,
                env={**environment, **defaults, **settings},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                timeout=60,
            )
        return result.returncode, self.said.read_text(encoding="utf-8")

    def require(self, **settings):
        return self.run_script("bash", "-uc", REQUIRE, "-", self.folder, ROOT, **settings)

    def assert_in_order(self, parts, text):
        places = [text.find(part) for part in parts]
        self.assertNotIn(-1, places, f"{parts} in {text}")
        self.assertEqual(places, sorted(places), f"{parts} in {text}")

    def test_nothing_missing_says_and_does_nothing(self):
        self.assertEqual(self.require(), (0, ""))

    def test_root_is_told_what_and_why_then_it_is_installed(self):
        self.remove_program("cmake")
        status, said = self.require(MISSING="libgrpc-dev")
        self.assert_in_order(
            [
                "Installing missing Debian packages:\n",
                "cmake                configures the build\n",
                "libgrpc-dev          server and client channel\n",
                "apt-get called with update\n",
                f"{INSTALLED} cmake libgrpc-dev\n",
            ],
            said,
        )
        self.assertEqual(status, 0)

    def test_a_package_of_which_only_settings_are_left_is_missing(self):
        _, said = self.require(LEFT_OVER="libssl-dev")
        self.assertIn(f"{INSTALLED} libssl-dev\n", said)

    def test_sudo_is_used_if_it_needs_no_password(self):
        status, said = self.require(MISSING="libssl-dev", USER_ID="1000", SUDO_WORKS="yes")
        self.assertIn(f"{INSTALLED} libssl-dev\n", said)
        self.assertEqual(status, 0)

    def test_without_rights_the_packages_are_named(self):
        for script in ("quickstart", "check"):
            with self.subTest(script):
                status, said = self.run_script(
                    ROOT / "scripts" / script, MISSING="libgrpc-dev libssl-dev", USER_ID="1000"
                )
                self.assertIn("apt-get install --no-install-recommends libgrpc-dev libssl-dev", said)
                self.assertNotIn("apt-get called", said)
                self.assertEqual(status, 1)
            self.said.unlink()

    def test_a_failing_installation_is_reported(self):
        status, said = self.require(MISSING="libssl-dev", APT_STATUS="100")
        self.assertIn("failed with status 100", said)
        self.assertIn("packages.log", said)
        self.assertNotIn(INSTALLED, said)
        self.assertNotEqual(status, 0)

    def test_elsewhere_than_on_debian_nothing_is_installed(self):
        self.remove_program("dpkg-query")
        status, said = self.require()
        self.assertIn("docs/DEPENDENCIES.md", said)
        self.assertNotIn("apt-get called", said)
        self.assertEqual(status, 0)

    def test_check_refuses_an_unknown_stage(self):
        status, said = self.run_script(ROOT / "scripts" / "check", "asan", "fast")
        self.assertIn("unknown stage 'fast'", said)
        self.assertIn("release lint asan tsan", said)
        self.assertEqual(status, 2)

    def test_check_explains_itself(self):
        for flag in ("-help", "--help", "-h"):
            with self.subTest(flag):
                status, said = self.run_script(ROOT / "scripts" / "check", flag)
                self.assertIn("Usage: scripts/check", said)
                self.assertEqual(status, 0)


unittest.main()
