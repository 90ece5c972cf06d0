// Names of the groups of transforms in the menu.

import type { Translator } from '../../ui/translator';

/** The name of a category; one that this version does not know is made of its own words. */
export function groupText(category: string, trans: Translator): string {
  return (
    groupNames(trans)[category] ??
    category.replace('.', ': ').replaceAll('_', ' ')
  );
}

function groupNames(trans: Translator): Record<string, string> {
  return {
    'audio.biquads': trans.__('Sounds: second-order filters'),
    'audio.cepstra': trans.__('Sounds: cepstra'),
    'audio.effects': trans.__('Sounds: effects'),
    'audio.frames': trans.__('Sounds: frames'),
    'audio.levels': trans.__('Sounds: levels'),
    'audio.linear_filters': trans.__('Sounds: linear filters'),
    'audio.masking': trans.__('Sounds: masking'),
    'audio.mel': trans.__('Sounds: mel spectrograms'),
    'audio.mixing': trans.__('Sounds: mixing'),
    'audio.phases': trans.__('Sounds: phases'),
    'audio.resampling': trans.__('Sounds: sample rate and speed'),
    'audio.spectra': trans.__('Sounds: spectrograms'),
    'audio.voice': trans.__('Sounds: voice'),
    'general.arrays': trans.__('General: arrays'),
    'general.compose': trans.__('General: combinations'),
    'general.one_hot': trans.__('General: one-hot'),
    'general.padding': trans.__('General: padding'),
    'image.box_labels': trans.__('Pictures: boxes'),
    'image.color': trans.__('Pictures: color'),
    'image.color_space': trans.__('Pictures: color spaces'),
    'image.flip': trans.__('Pictures: flips'),
    'image.crop': trans.__('Pictures: crops'),
    'image.elastic': trans.__('Pictures: elastic distortion'),
    'image.erase': trans.__('Pictures: erasing'),
    'image.frames': trans.__('Pictures: frames of clips'),
    'image.types': trans.__('Pictures: number types'),
    'image.kinds': trans.__('Pictures: array types'),
    'image.layout': trans.__('Pictures: layout'),
    'image.letterbox': trans.__('Pictures: sizes with margins'),
    'image.levels': trans.__('Pictures: levels'),
    'image.mix': trans.__('Pictures: mixing'),
    'image.mosaic': trans.__('Pictures: mosaics'),
    'image.noise': trans.__('Pictures: noise'),
    'image.normalize': trans.__('Pictures: normalization'),
    'image.object_regions': trans.__('Pictures: regions of objects'),
    'image.pad': trans.__('Pictures: padding'),
    'image.perspective': trans.__('Pictures: perspective'),
    'image.point_labels': trans.__('Pictures: key points'),
    'image.rotate': trans.__('Pictures: rotation'),
    'image.sharpness': trans.__('Pictures: sharpness'),
    'image.policies': trans.__('Pictures: policies'),
    'image.resize': trans.__('Pictures: sizes'),
    'image.resized_crop': trans.__('Pictures: crops with a size'),
    'table.categories': trans.__('Tables: categories'),
    'table.dates': trans.__('Tables: dates'),
    'table.scaling': trans.__('Tables: scaling'),
    'table.preprocessor': trans.__('Tables: preprocessing'),
    'text.vectorization': trans.__('Texts: vectorization'),
    'text.splitting': trans.__('Texts: splitting'),
    'text.bert': trans.__('Texts: BERT'),
    'text.character_noise': trans.__('Texts: noise in characters'),
    'text.chinese': trans.__('Texts: Chinese'),
    'text.clean': trans.__('Texts: cleaning'),
    'text.encodings': trans.__('Texts: encodings'),
    'text.word_noise': trans.__('Texts: noise in words'),
    'text.grammar': trans.__('Texts: grammar'),
    'text.joining': trans.__('Texts: joining'),
    'text.lookup': trans.__('Texts: lookup'),
    'text.sequences': trans.__('Texts: sequences'),
    'text.subwords': trans.__('Texts: subwords'),
    'text.windows': trans.__('Texts: windows'),
    custom: trans.__('Your own')
  };
}
