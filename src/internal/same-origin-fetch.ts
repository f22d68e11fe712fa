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
 * The returned function rejects with a TransportError for a redirect to another origin, for one whose target is missing, invalid or hidden
 * (in browsers), and for the sixth redirect.
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
        throw redirectError(url, `redirected the request more than ${MAX_REDIRECTS} times; ${CHECK}`);
      url = targetOf(response, url);
      if (response.status === 303) sent = { ...sent, method: 'GET', body: null };
    }
  };
}

function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || REDIRECTS.has(status);
}

const CHECK = 'check the base URL';
const ADVICE = 'the key was not sent there; if that server is the right one, set the base URL to it';

/** Returns where a response redirects to, within the same origin, without a user and a password. */
function targetOf({ type, status, headers }: Response, from: URL): URL {
  if (type === 'opaqueredirect')
    throw redirectError(from, `redirected the request to an address that the browser hides; ${ADVICE}`);
  const location = headers.get('location');
  if (location === null)
    throw redirectError(from, `responded with status ${status} but without a Location header; ${CHECK}`);
  const target = URL.canParse(location, from.href) ? new URL(location, from) : null;
  if (target === null) throw redirectError(from, `redirected the request to something that is not a URL; ${CHECK}`);
  const { protocol, origin } = target;
  if (!/^https?:$/u.test(protocol))
    throw redirectError(from, `redirected the request to a URL with the scheme ${JSON.stringify(protocol)}; ${CHECK}`);
  if (origin !== from.origin) throw redirectError(from, `redirected the request to ${origin}; ${ADVICE}`);
  return Object.assign(target, { username: '', password: '' });
}

const redirectError = ({ origin }: URL, problem: string): TransportError =>
  new TransportError('redirected', `${origin} ${problem}`);
