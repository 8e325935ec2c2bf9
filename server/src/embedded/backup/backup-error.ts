/** A backup cannot be made or restored. The message names the reason and the remedy. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
