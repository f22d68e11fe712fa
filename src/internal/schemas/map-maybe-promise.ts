/**
 * What `next` makes of something that may be a promise, of whatever library or realm: at once where it is none. What is thrown or
 * rejected on the way is thrown or rejected.
 */
export function mapMaybePromise<Given, Made>(
  given: Given | PromiseLike<Given>,
  next: (value: Given) => Made,
): Made | Promise<Made> {
  return isThenable(given) ? Promise.resolve(given).then(next) : next(given);
}

function isThenable<Given>(given: Given | PromiseLike<Given>): given is PromiseLike<Given> {
  return typeof (given as PromiseLike<Given> | null | undefined)?.then === 'function';
}
