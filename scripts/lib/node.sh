# The npm packages of tests/node, which the Node client's test uses.
# Needs output.sh.
# shellcheck shell=bash
: "${root:?must name the folder of the checkout}"

# Installs them below build/node, if they are not there already.
node_packages_install() {
  local wanted="$root/tests/node" there="$root/build/node"
  mkdir -p "$there"
  if [ -e "$there/installed" ] && cmp -s "$wanted/package-lock.json" "$there/installed"; then
    return 0
  fi
  say "Installing the npm packages of tests/node/package.json in $there"
  rm -f "$there/installed"
  cp "$wanted/package.json" "$wanted/package-lock.json" "$there/" &&
    run_logged "$root/build/node.log" npm ci --prefix "$there" --ignore-scripts --no-audit --no-fund &&
    cp "$wanted/package-lock.json" "$there/installed"
}
