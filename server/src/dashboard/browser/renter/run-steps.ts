import { formatSol, type EndedRun, type Receipt, type RunState } from '@agent-rental/contract';
import { RUN_STATUS_WORDS } from '../../words.js';
import { element, momentOf } from '../elements.js';

/** A step of a run that the service has told of. */
export interface ShownStep {
  words: string;
  /** `done`: it has ended. `now`: the run is there. `bad`: the run ended there, without a result. */
  state: 'done' | 'now' | 'bad';
  /** The time that the service gives for it. */
  at?: string | undefined;
}

/** The words for the step that a run has reached. */
const NOW_WORDS = {
  queued: 'It waits: all places of the agent are taken',
  started: 'It has a place, and the agent is started',
  charging: 'The agent works, and the charge is on its way to Solana',
  charged: 'The agent works',
  held: 'The agent has ended, and the output waits for the charge',
} as const;

/** The steps of a run up to now, as the service has told them. */
export function stepsOf(state: RunState, receipt?: Receipt): ShownStep[] {
  const at = state.status === 'running' ? state.started_at : receipt?.started_at;
  const first: ShownStep = { words: 'Taken on', state: 'done', at };
  if (state.status === 'running') {
    const { step } = state;
    const isCharged = step === 'charged';
    const words = step === undefined ? 'It runs' : NOW_WORDS[step];
    return [
      first,
      ...(isCharged ? [{ words: 'Charged', state: 'done' } as const] : []),
      { words, state: 'now' },
    ];
  }
  const charge = state.cost_lamports;
  return [
    first,
    ...(charge > 0 ? [{ words: `Charged ${formatSol(charge)}`, state: 'done' } as const] : []),
    {
      words: endWords(state),
      state: state.status === 'completed' ? 'done' : 'bad',
      at: receipt?.finished_at,
    },
  ];
}

/** The end of a run. A run that its wallet cancelled is "Cancelled", not "Failed". */
export function endWords({ status, stop_reason: reason, error }: EndedRun): string {
  if (status === 'failed' && reason === 'cancelled') return 'Cancelled';
  return error === undefined ? RUN_STATUS_WORDS[status] : RUN_STATUS_WORDS.undelivered;
}

/** The steps as the entries of a list. */
export const stepEntries = (steps: readonly ShownStep[]): HTMLElement[] =>
  steps.map(({ words, state, at }) => {
    const entry = element('li', { class: state, text: words });
    if (state === 'now') entry.setAttribute('aria-current', 'step');
    if (at !== undefined) entry.append(element('span', { class: 'soft', text: ` ${momentOf(at)}` }));
    return entry;
  });
