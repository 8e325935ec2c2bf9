/** The state folder cannot be used. The message is one line for the person who started the server. */
export class StateFolderError extends Error {
  /** The folder in question. */
  readonly folder: string;

  constructor(folder: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StateFolderError';
    this.folder = folder;
  }
}

/** The state folder is held by another running process. */
export class StateFolderInUseError extends StateFolderError {
  /** The process that holds it. */
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(
      folder,
      `The state folder ${folder} is in use by process ${pid}; stop it or set STATE_DIR to another folder.`,
    );
    this.name = 'StateFolderInUseError';
    this.pid = pid;
  }
}
