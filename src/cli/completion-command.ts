import type { Command, Option } from 'commander';

export type Shell = 'bash' | 'zsh' | 'fish';

/** Returns a script that completes the commands and options of the program, and the values of options with choices. */
export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: firstLine(command.description()),
    options: command.options.filter(({ hidden }) => !hidden),
    values: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  }));
  if (shell === 'fish') return fishScript(program.name(), commands);
  // zsh understands completions of bash.
  return `${shell === 'zsh' ? 'autoload -Uz bashcompinit && bashcompinit\n' : ''}${bashScript(program.name(), commands)}`;
}

interface Completed {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  /** Of its arguments. */
  readonly values: readonly string[];
}

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

const flagsOf = ({ long, short }: Option): readonly string[] => [long, short].filter((flag) => flag != null);

function bashScript(name: string, commands: readonly Completed[]): string {
  const choices = commands.flatMap(({ name: command, options }) =>
    options.flatMap((option) =>
      option.argChoices === undefined
        ? []
        : [
            `    ${flagsOf(option)
              .map((flag) => `'${command} ${flag}'`)
              .join('|')}) words='${option.argChoices.join(' ')}';;`,
          ],
    ),
  );
  const words = commands.map(
    ({ name: command, options, values }) =>
      `    '${command} '*) words='${[...values, ...options.flatMap(flagsOf)].join(' ')}';;`,
  );
  return `_${name}() {
  local words='' current="\${COMP_WORDS[COMP_CWORD]}"
  case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD-1]}" in
${[...choices, ...words].join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words='${commands.map(({ name: command }) => command).join(' ')}'; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}

function fishScript(name: string, commands: readonly Completed[]): string {
  const quoted = (text: string): string => `'${text.replace(/[\\']/gu, '\\$&')}'`;
  const lines = commands.flatMap(({ name: command, description, options, values }) => [
    `complete -c ${name} -n __fish_use_subcommand -f -a ${command} -d ${quoted(description)}`,
    ...(values.length === 0
      ? []
      : [`complete -c ${name} -n '__fish_seen_subcommand_from ${command}' -a '${values.join(' ')}'`]),
    ...options.map((option) => {
      const flags = [option.long && `-l ${option.long.slice(2)}`, option.short && `-s ${option.short.slice(1)}`];
      const value =
        option.argChoices === undefined ? (option.required ? '-r' : '') : `-x -a '${option.argChoices.join(' ')}'`;
      const parts = [...flags, value, `-d ${quoted(firstLine(option.description))}`].filter(Boolean).join(' ');
      return `complete -c ${name} -n '__fish_seen_subcommand_from ${command}' ${parts}`;
    }),
  ]);
  return `${lines.join('\n')}\n`;
}
