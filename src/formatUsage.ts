/** Text of `--help`. */
export const formatUsage = (version: string): string =>
  `Berth ${version}: deploys container projects to your own servers over SSH, and keeps platform
applications, proxy routes and webhooks as each project declares them. It is a local HTTP service.

Usage: npm start             build when needed, and serve until Ctrl-C
                             (npm start -- --config FILE: with the settings of that file)
       npm run sandbox       serve against a sandbox of its own: nothing to set up, nothing changed outside
       npm start -- --help   this text

Environment:
  BERTH_CONFIG   the settings file. Default: ./berth.yaml where there is one and it is confirmed, else
                 ~/.config/berth/berth.yaml
  BERTH_HOST     the address to listen on. Default: 127.0.0.1. Any other needs the setting http.token
  BERTH_PORT     the port to listen on, 0 for any free one. Default: 3100

Addresses, with the defaults:
  http://127.0.0.1:3100                 the web page
  http://127.0.0.1:3100/reference       every endpoint, to read and to try
  http://127.0.0.1:3100/openapi.json    the same for programs
  http://127.0.0.1:3100/api/health      whether it runs; ?deep=true checks all that it depends on
`
