import { MANIFEST_MAX_BYTES } from '@agent-rental/contract';
import { find, findInput, say, work } from '../wallets.js';
import { findTextArea } from '../fields.js';
import { documentOf, type Draft } from './typed-agent.js';

/** The file holds terms and key beside the manifest. */
const MOST_BYTES = 4 * MANIFEST_MAX_BYTES;

/** A manifest that is typed, or read from a file, on a page. */
export interface ManifestInput {
  /** The present text as a draft, with its faults. */
  read(): Draft;
  /** Where violations are shown. */
  readonly list: HTMLElement;
  /** Clears the key of the model, once it was sent. */
  forgetKey(): void;
  /** Calls `changed` when the manifest changes; a second call replaces the first. */
  whenChanged(changed: () => void): void;
}

/** The least price of a Per-Task listing, where the page has it. */
export const leastPriceOf = ({ dataset }: HTMLElement): number | undefined =>
  dataset['leastPrice'] === undefined ? undefined : Number(dataset['leastPrice']);

/** Reads a chosen file into the field of the page, where it can be changed before it is sent. */
export function manifestInput(root: HTMLElement): ManifestInput {
  let onChanged: () => void = () => undefined;
  const text = findTextArea(root, '#manifest');
  const file = findInput(root, '#manifest-file');
  const key = findInput(root, '#manifest-key');
  file.addEventListener('change', () => {
    const [chosen] = file.files ?? [];
    if (chosen === undefined) return;
    if (chosen.size > MOST_BYTES) {
      say(root, `The file has ${chosen.size} bytes: a manifest has at most ${MANIFEST_MAX_BYTES}.`);
      return;
    }
    work(root, 'The file was not read.', async () => {
      text.value = await chosen.text();
      say(root, 'The file was read. See its content below.');
      onChanged();
    });
  });
  text.addEventListener('change', () => onChanged());
  return {
    read: () => documentOf(text.value, key.value.trim(), leastPriceOf(root)),
    list: find(root, '#manifest-wrong'),
    forgetKey: () => {
      key.value = '';
    },
    whenChanged: (changed) => {
      onChanged = changed;
    },
  };
}
