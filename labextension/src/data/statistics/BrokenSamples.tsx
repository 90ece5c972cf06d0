// Samples that could not be read, each with its reason; their files are shown in the file browser, or their paths are copied.

import { Fragment, useState } from 'react';
import type { BrokenSample } from '../../api/data';
import { CopyButton } from '../../ui/CopyButton';
import { formatCount } from '../../ui/number-format';
import type { Translator } from '../../ui/translator';
import { errorText } from '../error-text';
import type { DataHost } from '../host';
import { problemText } from '../problem-text';

interface BrokenSamplesProps {
  /** The first of them. */
  broken: readonly BrokenSample[];
  /** Number of all. */
  count: number;
  host: DataHost;
  trans: Translator;
}

export function BrokenSamples(props: BrokenSamplesProps): JSX.Element {
  const { broken, count, host, trans } = props;
  const [failure, setFailure] = useState<string | null>(null);
  const show = (path: string) => {
    setFailure(null);
    host
      .showFile?.(path)
      .catch((error: unknown) => setFailure(errorText(error)));
  };
  return (
    <section aria-label={trans.__('Broken samples')}>
      <h3>
        {trans.__('Broken samples')}{' '}
        <span className="labdl-data-quiet">{formatCount(count)}</span>
      </h3>
      {failure && (
        <p className="labdl-data-problem" role="alert">
          {failure}
        </p>
      )}
      {count === 0 ? (
        <p className="labdl-data-quiet">
          {trans.__('All samples can be read.')}
        </p>
      ) : (
        <ul className="labdl-data-broken">
          {broken.map(({ index, name, path, problem }) => (
            <li key={index}>
              {path && host.showFile ? (
                <button
                  type="button"
                  className="labdl-data-link"
                  title={trans.__('Show in the file browser: %1', path)}
                  onClick={() => show(path)}
                >
                  <PathText path={name} />
                </button>
              ) : (
                <b title={path || name}>
                  <PathText path={name} />
                  {path && (
                    <CopyButton
                      isIcon
                      label={trans.__('Copy the path: %1', path)}
                      text={() => path}
                      trans={trans}
                    />
                  )}
                </b>
              )}
              <span>{problemText(trans, problem)}</span>
            </li>
          ))}
        </ul>
      )}
      {count > broken.length && (
        <p className="labdl-data-quiet">
          {trans.__('and %1 more', formatCount(count - broken.length))}
        </p>
      )}
    </section>
  );
}

/** A path that breaks after its folders. */
function PathText({ path }: { path: string }): JSX.Element {
  const folders = path.split('/');
  const file = folders.pop();
  return (
    <span className="labdl-data-path">
      {folders.map((folder, i) => (
        <Fragment key={i}>
          {folder}/<wbr />
        </Fragment>
      ))}
      {file}
    </span>
  );
}
