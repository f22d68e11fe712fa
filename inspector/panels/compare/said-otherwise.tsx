import type { FactBeside } from '../../fold/compare/facts-beside.ts';
import { told } from '../../ui-state/compared.ts';
import { shortly } from '../../ui-state/text.ts';

interface SaidOtherwiseProps {
  readonly fact: FactBeside | null;
  readonly cutOff: boolean;
  readonly letters: readonly [string, string];
}

const MOST_FIELDS = 8;

/** The first thing that was said otherwise in two runs, field by field. */
export function SaidOtherwise({ fact, cutOff, letters }: SaidOtherwiseProps) {
  const [left, right] = letters;
  if (fact === null)
    return (
      <p class="muted">
        {cutOff ? 'As far as it was looked through, nothing' : 'Nothing'} was said otherwise in {left} and {right}: the
        replies, decisions and answers that both have are the same.
      </p>
    );
  const { kind, nth, seqs, fields } = fact;
  return (
    <table class="beside">
      <caption>
        Said otherwise first: {shortly(kind, 60)}
        {nth > 1 && ` (${nth}.)`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          {letters.map((letter, run) => (
            <th key={letter} scope="col">
              {letter} <span class="muted">entry {seqs[run]}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {fields.slice(0, MOST_FIELDS).map(({ path, values }) => (
          <tr key={path}>
            <th scope="row" class="told">
              {shortly(path, 80) || 'all of it'}
            </th>
            {values.map((value, run) => (
              <td key={letters[run]} class="told">
                <mark>{shortly(told(value), 300)}</mark>
              </td>
            ))}
          </tr>
        ))}
        {fields.length > MOST_FIELDS && (
          <tr>
            <td colSpan={3}>… and {fields.length - MOST_FIELDS} more fields</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
