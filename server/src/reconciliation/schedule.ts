/** Name of the job. */
export const RECONCILIATION_TASK = 'reconcile_with_chain';
/** Every hour, by one of the replicas; a run that a stopped server missed is made up for at its start. */
export const RECONCILIATION_CRONTAB = `17 * * * * ${RECONCILIATION_TASK} ?fill=1h&max=2&jobKey=${RECONCILIATION_TASK}`;
