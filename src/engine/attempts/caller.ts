/** Where a function was called, as the frames of a stack. */
export interface Caller {
  readonly stack?: string;
}

/** Who called this function. The frames are put into words only when somebody reads them. */
export function callerOf(callee: (...args: never) => unknown): Caller {
  const caller: { stack?: string } = {};
  Error.captureStackTrace?.(caller, callee);
  return caller;
}

/** The error with the frames of the caller: those of where it arose are in a timer or a socket, and tell its reader nothing. */
export function calledFrom<Met extends Error>({ stack }: Caller, error: Met): Met {
  const frames = stack?.split('\n').slice(1).join('\n');
  if (frames) error.stack = `${error.name}: ${error.message}\n${frames}`;
  return error;
}
