# deliver ID BODY: signs the body as Standard Webhooks does, and posts it.
deliver() {
  local at key signature
  at=$(date +%s)
  key=$(echo "${KEY:-bm90IGEgc2VjcmV0OiBwdWJsaWMgZGVtbw==}" | base64 -d | od -An -tx1 | tr -d ' \n')
  signature=$(printf '%s.%s.%s' "$1" "$at" "$2" |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
  curl -sS -w '%{http_code}\n' "${DOOR:-http://127.0.0.1:8080}/snapshots" -d "$2" \
    -H 'Content-Type: application/json' -H "webhook-id: $1" \
    -H "webhook-timestamp: $at" -H "webhook-signature: v1,$signature"
}

paid='{"type": "order.changed", "data": {"id": "order_7", "revision": 1, "paid": true}}'
deliver msg_1 "$paid"
deliver msg_1 "$paid"
deliver msg_1 "${paid/true/false}"
KEY=Z3Vlc3NlZA== deliver msg_2 "$paid"
