// Copyright the hlsgen authors. Licensed under the Apache License, Version 2.0.
//
// Where the vendor declares its own operations, which code reaches by the other headers.
