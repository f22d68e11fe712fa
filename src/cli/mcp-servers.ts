import { PostChainError } from '../../machines/contracts/error.ts';
import { KNOWN_KEY } from '../inspection/redaction.ts';

/** The value of `--mcp`: a URL, or a command with its arguments separated by spaces. */
type Server = string;

const HIDDEN = '[hidden]';

const isUrl = (server: Server): boolean => /^https?:/iu.test(server);

const wordsOf = (server: Server): readonly string[] => server.trim().split(/\s+/u);

/**
 * Returns what a journal records of a server: URLs without user, query and fragment, commands without the values of arguments that look
 * like keys. References to environment variables stay.
 */
export function recordableServer(server: Server): string {
  if (isUrl(server)) return server.replace(/[?#].*$/su, '').replace(/^(https?:\/*)[^/]*@/iu, '$1');
  const words = wordsOf(server);
  return words.map((word, at) => recordableWord(word, words[at - 1] ?? '')).join(' ');
}

/** Returns the names of the arguments whose values were hidden, in order. */
export function hiddenArguments(server: Server): readonly string[] {
  const words = wordsOf(server);
  return words.flatMap((word, at) =>
    word
      .split(HIDDEN)
      .slice(0, -1)
      .map((before) => before.replace(/[=:]$/u, '') || (words[at - 1] ?? '')),
  );
}

export function withHiddenValues(server: Server, values: readonly string[]): Server {
  let next = 0;
  return wordsOf(server)
    .join(' ')
    .replaceAll(HIDDEN, () => values[next++] ?? '');
}

/** Returns the words of a command with `$NAME` and `${NAME}` replaced by environment variables. Throws `invalid_option` if one is not set. */
export function commandOf(server: Server, env: NodeJS.ProcessEnv): readonly string[] {
  return wordsOf(server).map((word) =>
    word.replace(VARIABLE, (reference, braced?: string, plain?: string) => {
      const value = env[braced ?? plain ?? ''];
      if (value !== undefined) return value;
      throw new PostChainError(
        'invalid_option',
        `--mcp "${recordableServer(server)}": the environment variable ${reference} is not set; set it, or pass the value itself`,
      );
    }),
  );
}

const VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/gu;

/** The name of an argument, header or variable that holds a key. */
const KEY_NAME =
  /(?:^|[-_.])(?:key|pat|auth|pwd?|pass|bearer|credentials?|cookie|jwt)$|(?:(?:api|access|account|private)-?key|token|secret|passw(?:or)?d|passphrase|authorization)$/u;
const ASSIGNMENT = /^(?<name>[-\w.]+)(?<sign>[=:])(?<value>.+)$/su;
/** Such a name within an argument, and its value: in a query, a connection string or a header. */
const PAIR = /(?<![-\w.])(?=(?<name>[-\w.]+)[=:](?<value>[^\s;&,#]+))/gu;
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)([^\s/@]+)(?=@)/giu;

const isKeyName = (name: string): boolean =>
  KEY_NAME.test(
    name
      .replace(/^-+/u, '')
      .replace(/([a-z])(?=[A-Z])/gu, '$1-')
      .toLowerCase(),
  );

const isReference = (value: string): boolean => value.replace(VARIABLE, '') === '';

function recordableWord(word: string, before: string): string {
  const follows = /^--?[A-Za-z]/u.test(before) && !before.includes('=') && isKeyName(before);
  const isCredential = /^(?:.*[:=])?(?:bearer|basic)$/iu.test(before);
  if ((follows && !/^--?[A-Za-z]/u.test(word)) || isCredential) return hiddenUnlessReference(word);
  const { name = '', sign = '', value = '' } = ASSIGNMENT.exec(word)?.groups ?? {};
  if (isKeyName(name) && !/^(?:bearer|basic)$/iu.test(value)) return `${name}${sign}${hiddenUnlessReference(value)}`;
  const pair = [...word.matchAll(PAIR)].findLast(({ groups }) => isKeyName(groups?.['name'] ?? ''));
  if (pair !== undefined) {
    const { name: key = '', value: secret = '' } = pair.groups ?? {};
    const at = pair.index + key.length + 1;
    return `${recordableWord(word.slice(0, at), before)}${hiddenUnlessReference(secret)}${word.slice(at + secret.length)}`;
  }
  return word
    .replace(URL_PASSWORD, (_, start: string, password: string) => `${start}${hiddenUnlessReference(password)}`)
    .replace(KNOWN_KEY, HIDDEN);
}

const hiddenUnlessReference = (value: string): string => (isReference(value) ? value : HIDDEN);
