import type { RecordedPrompt } from '../../../src/llm/recorded-prompts.ts';
import { pluralize } from '../../fold/format.ts';
import type { AttemptAt } from '../../fold/output.ts';
import { promptSeq } from '../../fold/step.ts';
import { excerpt } from '../../fold/text.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { JsonTree } from '../json-tree.tsx';
import { LongText } from '../long-text.tsx';
import { CopyButton, Folded, Section } from '../parts.tsx';

/** The prompt that a model call sent, the last user turn first. */
export function Asked({ view, call }: { readonly view: PanelView; readonly call: AttemptAt }) {
  const { log, fold, at } = view;
  const seq = promptSeq(log, fold, call);
  const prompt = seq === null || seq > at ? null : fold.prompts.at(seq);
  if (prompt === null) return null;
  const { turns, schema, tools, isEdited, name, version } = prompt;
  const main = turns.findLast(({ role }) => role === 'user') ?? turns.at(-1);
  return (
    <Section
      title="Asked"
      aside={
        <>
          <span class="muted">
            call {call.span.number}
            {isEdited && ', edited for this call'}
          </span>
          <CopyButton what="prompt" text={() => turns.map((turn) => `${turn.role}:\n${textOf(turn)}`).join('\n\n')} />
        </>
      }
    >
      {main !== undefined && <TurnText turn={main} />}
      {turns.map(
        (turn, index) =>
          turn !== main && (
            <Folded
              // biome-ignore lint/suspicious/noArrayIndexKey: the turns of a prompt never change
              key={index}
              summary={
                <>
                  {turn.role === 'system' ? 'System text' : `Turn ${index + 1}, ${excerpt(turn.role, 20)}`}{' '}
                  <span class="muted">{pluralize(turn.content.length, 'character')}</span>
                </>
              }
              content={() => <TurnText turn={turn} />}
            />
          ),
      )}
      {schema !== null && schema !== undefined && (
        <Folded
          summary={
            <>
              Schema of the reply <span class="muted verbatim">{excerpt(`${name}, version ${version}`, 60)}</span>
            </>
          }
          content={() => <JsonTree value={schema} />}
        />
      )}
      {tools.length > 0 && (
        <Folded summary={`${pluralize(tools.length, 'tool')} offered`} content={() => <JsonTree value={tools} />} />
      )}
    </Section>
  );
}

type Turn = RecordedPrompt['turns'][number];

const TURN_CHARS = 2_000;

const TurnText = ({ turn }: { readonly turn: Turn }) => (
  <div class="prose">
    <LongText text={textOf(turn)} chars={TURN_CHARS} />
  </div>
);

/** Returns the text of a turn with the tool calls that the model made in it, or the call whose result it is. */
function textOf({ content, toolCalls = [], toolResult }: Omit<Turn, 'role'>): string {
  const calls = toolCalls.map(({ id, name, arguments: given }) => `${name}(${given}) [${id}]`);
  return [...(toolResult ? [`${toolResult.name} [${toolResult.id}]`] : []), content, ...calls]
    .filter(Boolean)
    .join('\n');
}
