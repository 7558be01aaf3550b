"""How far explanations from the picture go: networks of growing depth, in real arithmetic and in binary32."""
