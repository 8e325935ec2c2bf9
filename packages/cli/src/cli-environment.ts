/** The surroundings of one run of the command line. */
export interface CliEnvironment {
  /** Environment variables. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The working folder. */
  readonly folder: string;
  /** Aborts at Ctrl-C. */
  readonly signal: AbortSignal;
  /** Writes a line of the result. */
  out(line: string): void;
  /** Writes a part of the result at once. */
  write(text: string): void;
  /** Writes a line that is not part of the result: progress, advice, errors. */
  err(line: string): void;
  /** Asks the person at the terminal; absent without a terminal. */
  ask?: ((question: string) => Promise<boolean>) | undefined;
  /** Asks for a secret, which the terminal does not show; absent without a terminal. */
  askSecret?: ((question: string) => Promise<string>) | undefined;
}
