/** What a run of the command line has around it. */
export interface CliEnvironment {
  readonly environment: Readonly<Record<string, string | undefined>>;
  out(line: string): void;
  err(line: string): void;
}
