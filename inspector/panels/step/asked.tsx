import { useMemo, useState } from 'preact/hooks';
import { firstChars } from '../../../machines/text/clip.ts';
import type { RecordedPrompt } from '../../../src/llm/recorded-prompts.ts';
import { addedText, firstParts, type TextPart } from '../../fold/added-text.ts';
import { formatNumber, pluralize } from '../../fold/format.ts';
import { callBefore, type NumberedCall, promptSeq } from '../../fold/step.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import { Toggle } from '../../link-button.tsx';
import type { PanelView } from '../../ui-state/inspector.ts';
import { CopyButton } from '../copy-button.tsx';
import { Folded } from '../folded.tsx';
import { JsonTree } from '../json-tree.tsx';
import { LongText } from '../long-text.tsx';
import { Section } from './section.tsx';

/** The prompt that a model call sent: the last user turn first, with what is new since the call before it. */
export function Asked({ view, call }: { readonly view: PanelView; readonly call: NumberedCall }) {
  const { log, fold, at } = view;
  const promptOf = (one: NumberedCall): RecordedPrompt | null => {
    const seq = promptSeq(log, fold, one);
    return seq === null || seq > at ? null : fold.prompts.at(seq);
  };
  const before = useMemo(() => callBefore(fold, call, at), [fold, call.number, at]);
  const prompt = promptOf(call);
  if (prompt === null) return null;
  const earlier = before === null ? null : promptOf(before);
  const { turns, schema, tools, isEdited, name, version } = prompt;
  const main = lastUserTurn(turns);
  const difference = earlier === null ? null : addedText(textOfMain(earlier.turns), textOfMain(turns));
  return (
    <Section
      title="Asked"
      aside={
        <>
          <span class="muted">
            call {call.number}
            {isEdited && ', edited for this call'}
          </span>
          <CopyButton what="prompt" text={() => turns.map((turn) => `${turn.role}:\n${textOf(turn)}`).join('\n\n')} />
        </>
      }
    >
      {main !== null && (
        <MarkedText
          key={call.number}
          parts={difference ?? [{ text: textOf(main), isNew: false }]}
          hasOld={difference !== null}
        />
      )}
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
              content={() => (
                <div class="prose">
                  <LongText text={textOf(turn)} chars={TURN_CHARS} />
                </div>
              )}
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

const lastUserTurn = (turns: readonly Turn[]): Turn | null =>
  turns.findLast(({ role }) => role === 'user') ?? turns.at(-1) ?? null;

const textOfMain = (turns: readonly Turn[]): string => {
  const main = lastUserTurn(turns);
  return main === null ? '' : textOf(main);
};

/** Returns the text of a turn with the tool calls that the model made in it, or the call whose result it is. */
function textOf({ content, toolCalls = [], toolResult }: Omit<Turn, 'role'>): string {
  const calls = toolCalls.map(({ id, name, arguments: given }) => `${name}(${given}) [${id}]`);
  return [...(toolResult ? [`${toolResult.name} [${toolResult.id}]`] : []), content, ...calls]
    .filter(Boolean)
    .join('\n');
}

const TURN_CHARS = 2_000;
const MAX_CHARS = 200_000;

interface MarkedTextProps {
  readonly parts: readonly TextPart[];
  /** Whether there is an earlier text, so that new parts can be marked. */
  readonly hasOld: boolean;
}

/** The characters that are kept before and after new text. */
const AROUND_CHARS = 200;

/** Shortens a long part that is not new, so that the new ones are in sight. */
function withoutMiddle({ text, isNew }: TextPart): TextPart {
  if (isNew || text.length < 3 * AROUND_CHARS) return { text, isNew };
  const left = text.length - 2 * AROUND_CHARS;
  return {
    text: `${firstChars(text, AROUND_CHARS)}… ${formatNumber(left)} characters as before …${text.slice(-AROUND_CHARS).replace(/^[\uDC00-\uDFFF]/u, '')}`,
    isNew,
  };
}

function MarkedText({ parts, hasOld }: MarkedTextProps) {
  const [isExpanded, setExpanded] = useState(false);
  const length = parts.reduce((sum, { text }) => sum + text.length, 0);
  const isMarked = hasOld && parts.some(({ isNew }) => !isNew);
  const condensed = isMarked && !isExpanded ? parts.map(withoutMiddle) : parts;
  const shown = firstParts(condensed, isExpanded ? MAX_CHARS : TURN_CHARS);
  return (
    <div class="prose">
      <p class="verbatim">
        {shown.map(({ text, isNew }, index) =>
          isNew && isMarked ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order
            <mark key={index}>{revealHidden(text)}</mark>
          ) : (
            revealHidden(text)
          ),
        )}
      </p>
      {length > TURN_CHARS && (
        <Toggle isOpen={isExpanded} open={setExpanded} more={`show all ${formatNumber(length)} characters`} />
      )}
    </div>
  );
}
