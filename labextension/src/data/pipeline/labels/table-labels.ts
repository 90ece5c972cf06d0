// Labels of settings of transforms of tables, by their names in lower case.

import type { Translator } from '../../../ui/translator';

export function tableLabels(trans: Translator): Record<string, string> {
  return {
    drop: trans.__('Drop'),
    handle_unknown: trans.__('Unknown categories'),
    unknown_value: trans.__('Value for the unknown'),
    indicator: trans.__('Column for missing values'),
    n_features: trans.__('Number of features'),
    alternate_sign: trans.__('Alternate signs'),
    parts: trans.__('Parts of the date'),
    cyclic: trans.__('Cyclic'),
    with_mean: trans.__('Subtract the mean'),
    with_std: trans.__('Divide by the deviation'),
    feature_range: trans.__('Range of values'),
    n_quantiles: trans.__('Number of quantiles'),
    output_distribution: trans.__('Output distribution'),
    subsample: trans.__('Samples to read'),
    strategy: trans.__('Strategy'),
    fill_value: trans.__('Fill value'),
    impute: trans.__('Fill missing values'),
    encode: trans.__('Encoding'),
    date_parts: trans.__('Parts of dates')
  };
}
