claude mcp add agent-rental \
  --env AGENT_RENTAL_URL=http://127.0.0.1:8787 \
  --env AGENT_RENTAL_API_KEY=ark_dev_... \
  -- npx -y http://127.0.0.1:8787/packages/mcp-server.tgz
