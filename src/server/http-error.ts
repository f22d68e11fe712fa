/** An error that the server reports to its client: a status, a stable code and a one-line message. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The name of the invalid value, for OpenAI clients; null if the error is not about a value of the request. */
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

/** OpenAI's SDKs would retry after status 409. */
export const FINAL = { 'x-should-retry': 'false' };

export const unknownId = (noun: 'run' | 'actor', path: string): HttpError =>
  new HttpError(404, `unknown_${noun}`, `You have no ${noun} with this id. GET ${path} lists your ${noun}s.`);

export const refusedAnswer = (why: string): HttpError =>
  new HttpError(409, 'answer_refused', `The event had no effect: ${why}.`, FINAL);

export const runEnded = (): HttpError =>
  new HttpError(409, 'run_ended', 'The run has ended and accepts no more events. Start another run.', FINAL);

export const unknownRun = (): HttpError => unknownId('run', '/runs');
