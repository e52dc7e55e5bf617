# shellcheck shell=sh
# deploy_revision DIRECTORY: a text that is another one after every deploy, given the directory where deploys keep their
# things.
deploy_revision() { stat -c %y "$1" "$1/holder" 2>/dev/null | tr '\n' ' '; }
