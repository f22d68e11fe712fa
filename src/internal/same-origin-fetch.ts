import { TransportError } from './transport-error.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Enough for a server that corrects a path. */
const MAX_REDIRECTS = 5;

/** `fetch`, for a URL. */
export type FetchUrl = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Returns a `fetch` that follows redirects within one origin, so that a key and other headers reach no other server. Method and body stay
 * the same, except that a 303 changes the method to GET. `inner` must support `redirect: 'manual'`.
 *
 * The returned function rejects with a TransportError for a redirect to another origin, for one whose target is hidden (in browsers), and
 * for the sixth redirect.
 */
export function sameOriginFetch(inner: FetchUrl): FetchUrl {
  return async (from, init) => {
    let url = new URL(from);
    let sent: RequestInit = { ...init, redirect: 'manual' };
    for (let redirects = 0; ; redirects += 1) {
      const response = await inner(url.href, sent);
      if (!isRedirect(response)) return response;
      await response.body?.cancel();
      if (redirects === MAX_REDIRECTS)
        throw new TransportError('redirected', `${url.origin} redirected the request more than ${MAX_REDIRECTS} times`);
      url = targetOf(response, url);
      if (response.status === 303) sent = { ...sent, method: 'GET', body: null };
    }
  };
}

function isRedirect({ status, type, headers }: Response): boolean {
  return type === 'opaqueredirect' || (REDIRECTS.has(status) && headers.has('location'));
}

/** Returns where a response redirects to, within the same origin. */
function targetOf({ type, headers }: Response, from: URL): URL {
  const location = headers.get('location') ?? '';
  const target = URL.canParse(location, from.href) ? new URL(location, from) : null;
  const isHidden = type === 'opaqueredirect';
  if (target?.origin === from.origin && !isHidden) return target;
  const to = isHidden ? 'an address that the browser hides' : (target?.origin ?? 'an invalid address');
  const advice = 'the key was not sent there; if that server is the right one, set the base URL to it';
  throw new TransportError('redirected', `${from.origin} redirected the request to ${to}; ${advice}`);
}
