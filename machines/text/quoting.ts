import { safeJson } from './safe-json.ts';

/** Returns text as a JavaScript string on one line, which may be pasted into a script element. Invisible characters are escaped. */
export function jsString(text: string): string {
  const escaped = safeJson(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${escaped.replace(/<(?=[!/])/gu, String.raw`\u003c`)}'`;
}

/** Returns text as one word of a POSIX shell, in quotes if the shell would split or expand it. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns a command with its argument and options. An argument that begins with a hyphen must not be taken for an option. */
export const commandLine = (command: string, argument: string, ...options: readonly string[]): string =>
  (argument.startsWith('-')
    ? [command, ...options, '--', shellWord(argument)]
    : [command, shellWord(argument), ...options]
  ).join(' ');
