/** The environment of a server whose limits no harness reaches. A new variable of a limit gets a line here. */
export const WITHOUT_LIMITS = {
  RATE_LIMIT_PER_MINUTE: '1000000000',
  EXECUTIONS_PER_MINUTE: '1000000000',
} as const;
