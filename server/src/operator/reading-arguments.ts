import { OperatorError } from './operator-error.js';

/** Reads the arguments of a command by `parseArgs`. @throws OperatorError naming the command and the fault */
export function readingArguments<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new OperatorError(
      `${name}: ${(error as Error).message.split('. ')[0]}. --help shows every option.`,
    );
  }
}
