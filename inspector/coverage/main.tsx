import { render } from 'preact';
import '../ui-state/colors.css';
import '../ui-state/basics.css';
import './coverage.css';
import { excerpt, revealHidden } from '../fold/text.ts';
import { ErrorBoundary } from '../panels/panel.tsx';
import { CoveragePage } from './coverage-page.tsx';
import { readReport } from './report.ts';

/** A truncated file may lack the root element, but always has a body. */
const root = document.getElementById('page') ?? document.body;

try {
  const report = readReport(document.getElementById('coverage')?.textContent ?? '');
  document.title = `Chart coverage: ${excerpt(report.title, 80)}`;
  render(
    <ErrorBoundary name="The coverage" resetKey="">
      <CoveragePage report={report} />
    </ErrorBoundary>,
    root,
  );
} catch (error) {
  render(
    <main>
      <p class="problem" role="alert">
        {revealHidden(error instanceof Error ? error.message : String(error))}
      </p>
    </main>,
    root,
  );
}
