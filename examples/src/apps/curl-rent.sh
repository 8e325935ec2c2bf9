#!/bin/sh
# Rents an agent and runs it, with curl: login, quote, signed transaction, credential, run. It knows the marketplace's
# address and no chain's. Node only signs and reads JSON fields.
#
#   sh examples/src/apps/curl-rent.sh <marketplace URL> <keypair file with SOL> <execute request, a JSON file>
set -eu

[ $# = 3 ] || { echo "Usage: curl-rent.sh <marketplace URL> <keypair file> <request file>" >&2; exit 2; }
url=$1 wallet=$2 request=$3
sign=$(dirname "$0")/../../dist/apps/sign.js

# The value of an expression over the JSON on standard input, called "it".
json() {
  node -e 'const it = JSON.parse(require("node:fs").readFileSync(0, "utf8")); console.log(eval(process.argv[1]))' "$1"
}

# curl that shows the API's answer when it is an error.
call() {
  body=$(curl -sS --fail-with-body -H 'content-type: application/json' "$@") || { printf '%s\n' "$body" >&2; return 1; }
  printf '%s' "$body"
}

address=$(node "$sign" "$wallet")
challenge=$(call "$url/v1/auth/challenge?wallet=$address" | json it.challenge)
signature=$(node "$sign" "$wallet" "$challenge")
login="{\"wallet\":\"$address\",\"challenge\":\"$challenge\",\"signature\":\"$signature\"}"
bearer="authorization: Bearer $(call "$url/v1/auth/token" -d "$login" | json it.token)"

agent=$(json it.agent_id <"$request")
model=$(call "$url/v1/listings/$agent" -H "$bearer" | json it.rental_model)
case $model in
  one_time) terms= ;;
  subscription) terms=',"duration_seconds":2592000' ;;
  per_query) terms=',"deposit_lamports":10000000' ;;
esac

proposal=$(call "$url/v1/transactions" -H "$bearer" -d "{\"action\":\"rent\",\"listing_id\":\"$agent\"$terms}")
printf '%s' "$proposal" | json '`To sign: ${it.message} ${JSON.stringify(it.quote)}`'
signed=$(node "$sign" "$wallet" --transaction "$(printf '%s' "$proposal" | json it.transaction)")
submitted=$(call "$url/v1/transactions/submit" -H "$bearer" -d "{\"transaction\":\"$signed\"}")
printf '%s' "$submitted" | json '`Rented: ${it.credential.status}, credential ${it.credential.pda_address}`'

run=$(call "$url/v1/execute" -H "$bearer" -d "@$request")
printf '%s\n' "$run"
[ "$(printf '%s' "$run" | json it.status)" = completed ]
