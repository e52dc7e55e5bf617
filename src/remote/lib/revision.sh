# shellcheck shell=sh
# deploy_revision DIRECTORY: prints a text that changes with every deploy, for the directory of the deploys' own files.
deploy_revision() { stat -c %y "$1" "$1/holder" 2>/dev/null | tr '\n' ' '; }
