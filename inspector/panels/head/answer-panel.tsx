import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Citation, FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { isNoAnswer } from '../../fold/run-list.ts';
import { answerSelection } from '../../fold/selection.ts';
import { activityOf, noAnswerText } from '../../fold/summary.ts';
import { excerpt, revealHidden, sourceText } from '../../fold/text.ts';
import { waitingAt } from '../../fold/user-events.ts';
import { Toggle } from '../../link-button.tsx';
import type { Inspector, PanelView } from '../../ui-state/inspector.ts';
import { showPassage } from '../../ui-state/sought-passage.ts';
import { Markdown } from '../markdown.tsx';
import type { PanelProps } from '../panel.tsx';

const MAX_SOURCES = 6;

/** The answer as its readers see it, cut to a few lines on demand, with links to where its sources were found. */
export function Answer({ inspector, view, answer }: PanelProps & { readonly answer: FinalAnswer }) {
  const { answerText, confidence, sources } = answer;
  const isNone = isNoAnswer(answerText, confidence);
  const { text, button } = useCutText(isNone ? noAnswerText(answer) : answerText);
  return (
    <>
      {text}
      <p class="sources row small">
        {button}
        {sources.length > 0 && <span class="muted">Sources:</span>}
        {sources.slice(0, MAX_SOURCES).map((source) => (
          <button
            key={source.messageId}
            type="button"
            class="link-button verbatim"
            title={excerpt(source.quote, 300)}
            onClick={() => showSource(inspector, view, source)}
          >
            {revealHidden(sourceText(source))}
          </button>
        ))}
        {sources.length > MAX_SOURCES && <span class="muted">and {sources.length - MAX_SOURCES} more</span>}
      </p>
    </>
  );
}

/** Formatted text that is cut to a few lines, and the button that shows all of it. */
export function useCutText(markdown: string) {
  const [isOpen, setOpen] = useState(false);
  const [isCut, setCut] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || isOpen) return undefined;
    const measure = (): void => setCut(element.scrollHeight > element.clientHeight + 2);
    measure();
    // Text that fits may not fit a narrower page.
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [markdown, isOpen]);
  return {
    text: (
      <div ref={box} class={isOpen ? 'text' : isCut ? 'text cut fades' : 'text cut'}>
        <Markdown text={markdown} />
      </div>
    ),
    button: isCut && <Toggle isOpen={isOpen} open={setOpen} more="Show all" less="Show less" />,
  };
}

/** Shows a source where it was found; the answer if that is not recorded. */
function showSource(inspector: Inspector, view: PanelView, { messageId, quote }: Citation): void {
  const arrival = view.fold.context.arrivals.find(({ message }) => message.id === messageId);
  if (arrival === undefined) inspector.select(answerSelection(view.fold, view.count));
  else showPassage(inspector, view, { seq: arrival.from, content: arrival.message.content, phrase: quote });
}

export function Activity({ view: { run, log, fold, count, end } }: { readonly view: PanelView }) {
  // The status of a run can arrive before its last entries.
  const isRunning = waitingAt(log, fold, count - 1) === null && (run.status === 'running' || end === null);
  return isRunning ? <p class="muted">{`${activityOf(fold)}…`}</p> : null;
}
