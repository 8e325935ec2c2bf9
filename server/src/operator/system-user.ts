import { userInfo } from 'node:os';

/** Who decides, where no key signs: the user that runs the command. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number without a name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
