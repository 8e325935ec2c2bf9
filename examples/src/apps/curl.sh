#!/bin/sh
# From a wallet to a result with curl: challenge, signature, token, run. Node only signs and reads JSON fields.
#
#   sh examples/src/apps/curl.sh [agent, for instance contract-dates]
set -eu

agent=${1:-expense-reconciler}
sign=$(dirname "$0")/../../dist/apps/sign.js
state=${AGENT_RENTAL_STATE:-.agent-rental}
[ -d "$state" ] && state=$state/dev.json
[ -f "$state" ] || { echo "$state is not there. Start the marketplace with npm start." >&2; exit 1; }

# The value of an expression over the JSON on standard input, called "it".
json() {
  node -e 'const it = JSON.parse(require("node:fs").readFileSync(0, "utf8")); console.log(eval(process.argv[1]))' "$1"
}

# curl that shows the API's answer when it is an error.
call() {
  body=$(curl -sS --fail-with-body "$@") || { printf '%s\n' "$body" >&2; return 1; }
  printf '%s' "$body"
}

url=$(json it.base_url <"$state")
wallet=$(json it.wallets.renter <"$state")
request=$(json "it.listings.find(({ id }) => id.startsWith('$agent-'))?.sample_request_file ?? ''" <"$state")
[ -n "$request" ] || { echo "The agent $agent is not published here." >&2; exit 1; }
address=$(node "$sign" "$wallet")

answer=$(call "$url/v1/auth/challenge?wallet=$address")
challenge=$(printf '%s' "$answer" | json it.challenge)
signature=$(node "$sign" "$wallet" "$challenge")
answer=$(call "$url/v1/auth/token" -H 'content-type: application/json' \
  -d "{\"wallet\":\"$address\",\"challenge\":\"$challenge\",\"signature\":\"$signature\"}")
token=$(printf '%s' "$answer" | json it.token)

run=$(call "$url/v1/execute" -H "authorization: Bearer $token" -H 'content-type: application/json' -d "@$request")
printf '%s\n' "$run"
[ "$(printf '%s' "$run" | json it.status)" = completed ]
