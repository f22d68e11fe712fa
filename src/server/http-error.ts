/** An error that the server reports to its client: a status, a stable code and a message of one line. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The path of the invalid value in the body, for clients of the OpenAI APIs; null if the error is about another thing. */
  readonly param: string | null;

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    param: string | null = null,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.param = param;
  }
}

export const unknownRun = (): HttpError =>
  new HttpError(404, 'unknown_run', 'No run of yours has this id. Start one with POST /runs.');
