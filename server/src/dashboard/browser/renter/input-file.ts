import { MAX_FILE_BYTES } from '@agent-rental/contract';
import { find, findButton, findInput, type Session } from '../wallets.js';
import { WrongField } from '../wrong-field.js';

/** Lets a chosen or dropped file take the place of the typed input. */
export function offerFile(root: HTMLElement): void {
  const field = findInput(root, '#input-file');
  const remove = findButton(root, '#no-file');
  const show = () => {
    const isChosen = chosenFile(root) !== undefined;
    find(root, '#input-fields').toggleAttribute('disabled', isChosen);
    remove.hidden = !isChosen;
  };
  field.addEventListener('change', show);
  remove.addEventListener('click', () => {
    field.value = '';
    show();
    field.focus();
  });
}

/** The file that takes the place of the typed input. */
export const chosenFile = (root: HTMLElement): File | undefined => findInput(root, '#input-file').files?.[0];

/** Sends a file ahead of its run. @throws WrongField for a file that is too large. */
export async function sendFile(root: HTMLElement, { client }: Session, file: File): Promise<string> {
  if (file.size > MAX_FILE_BYTES) {
    const reason = `The file has ${file.size} bytes. An input has at most ${MAX_FILE_BYTES}.`;
    throw new WrongField(findInput(root, '#input-file'), reason);
  }
  const mediaType = file.type === '' ? 'application/octet-stream' : file.type;
  return (await client.uploadFile(file, { mediaType })).input_uri;
}
