import { PostChainError } from '../../machines/contracts/error.ts';

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
    word.endsWith(HIDDEN) ? [word.slice(0, -HIDDEN.length).replace(/[=:]$/u, '') || (words[at - 1] ?? '')] : [],
  );
}

export function withHiddenValues(server: Server, values: readonly string[]): Server {
  let next = 0;
  return wordsOf(server)
    .map((word) => (word.endsWith(HIDDEN) ? `${word.slice(0, -HIDDEN.length)}${values[next++] ?? ''}` : word))
    .join(' ');
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
  /(?:^|[-_.])(?:key|pat|auth|pwd|pass|bearer|credentials?)$|(?:api-?key|token|secret|passw(?:or)?d|passphrase|authorization)$/u;
const ASSIGNMENT = /^(?<name>[-\w.]+)(?<sign>[=:])(?<value>.+)$/su;
const KNOWN_KEY = /^(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs])[-_][\w-]{16,}$/u;
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/iu;

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
  if ((follows && !/^--?[A-Za-z]/u.test(word)) || isCredential || KNOWN_KEY.test(word))
    return hiddenUnlessReference(word);
  const { name = '', sign = '', value = '' } = ASSIGNMENT.exec(word)?.groups ?? {};
  if (isKeyName(name) && !/^(?:bearer|basic)$/iu.test(value)) return `${name}${sign}${hiddenUnlessReference(value)}`;
  return word.replace(URL_PASSWORD, `$1${HIDDEN}`);
}

const hiddenUnlessReference = (value: string): string => (isReference(value) ? value : HIDDEN);
