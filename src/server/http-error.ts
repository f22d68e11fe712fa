/** An error that the server reports to its client: a status, a stable code and a message of one line. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const unknownRun = (): HttpError =>
  new HttpError(404, 'unknown_run', 'No run of yours has this id. Start one with POST /runs.');
