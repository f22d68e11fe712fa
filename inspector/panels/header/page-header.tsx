import './header.css';
import { statusWords } from '../../fold/run-list.ts';
import { excerpt } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import { addressParameters, printAddress } from '../../ui-state/address.ts';
import type { Inspector, PanelView } from '../../ui-state/inspector.ts';
import { comparedRuns, isChartFull } from '../../ui-state/layout.ts';
import { isNarrow } from '../../ui-state/media.ts';

interface HeaderProps {
  readonly inspector: Inspector;
  readonly view: PanelView | null;
  readonly onHelp: () => void;
}

/** One line above every page, and a second one while the server does not answer. */
export function PageHeader({ inspector, view, onHelp }: HeaderProps) {
  const { connection, selectedRunId } = inspector;
  const isInRun = view !== null || typeof selectedRunId.value === 'string' || comparedRuns.value !== null;
  return (
    <header class="page-header">
      <div class="row">
        {isInRun && connection.value !== 'file' && (
          <a class="to-runs" href={printAddress({ parameters: addressParameters.value })}>
            <Icon name="arrow-left" /> All<span class="wide-only"> runs and actors</span>
          </a>
        )}
        <span class="product">PostChain</span>
        {/* On a narrow page, a step and the chart are far from the head of the run. */}
        {view !== null && isNarrow.value && (isChartFull.value || inspector.held.value !== null) && (
          <p class="where verbatim">
            <b class="one-line">{excerpt(view.run.title, 80) || 'Untitled'}</b>
            <span class={`one-line ${statusWords(view.run).tone}`}>{statusWords(view.run).text}</span>
          </p>
        )}
        <button type="button" onClick={onHelp} aria-haspopup="dialog" title="Keys and help (?)">
          ?
        </button>
      </div>
      {connection.value === 'lost' && (
        <p class="lost" role="status">
          <b>Not connected.</b> What has arrived stays readable, and the page reconnects by itself. If the inspector has
          ended, start it again and open the address that it prints.
        </p>
      )}
    </header>
  );
}
