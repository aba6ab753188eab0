//! Signatures that OpenSSL made of the text `message`.

use x509_parser::{asn1_rs::FromDer, x509::SubjectPublicKeyInfo};

use super::{Curve, Hash, SignatureAlgorithm, SignatureError, ecdsa, ring_ecdsa, verify};

const MESSAGE: &[u8] = b"message";

/// Signatures of ECDSA: the hash, the key as X.509 has it, and the signature.
const ECDSA: [(Hash, &str, &str); 6] = [
    (
        Hash::Sha256,
        "3059301306072a8648ce3d020106082a8648ce3d03010703420004f02b1c67811a6693af66ea6119dc9ec6c444e9c82183ad\
         a7176f8dcc7fa5e1402d9c2c2eba1a2d1f650d024ea5a7bd8fc4ee19a8ad57513c8d3dd89a7398c283",
        "3045022100dba3e23e0cb2bcc72323d1f09308e53b4d2b28eacde1aae4e5378e7d72d6e5cf02204aa436a5c78e1e8729c135\
         67b657db92c148e760278bcd2935b21b602d990c84",
    ),
    (
        Hash::Sha512,
        "3059301306072a8648ce3d020106082a8648ce3d03010703420004f02b1c67811a6693af66ea6119dc9ec6c444e9c82183ad\
         a7176f8dcc7fa5e1402d9c2c2eba1a2d1f650d024ea5a7bd8fc4ee19a8ad57513c8d3dd89a7398c283",
        "3045022100de970ade8c735b43cfca7d245ac06836855dc70da6d28b57411001cb4ff0204702201ec32f8b4f5782cdd320f3\
         519016edb7deabcabe06aaa3b5638deacac53e3ef2",
    ),
    (
        Hash::Sha256,
        "3076301006072a8648ce3d020106052b81040022036200049636087a030322968a7c3a4ecfb68cdf1495a6198b5cdc1c6e8f\
         331cd1ea90228964820a1ae6847ea85241dc602af24593f93545ec0082ec11a7c17c081d0f0a8c811d08c8f38e0ef70045ea\
         b3d3a1f61102d38aebcc6e52eeb28a5f7364e992",
        "306402303d96d3499a53c2bfec8cebb39ea33e6f33154ea11bf122da6dc9abceff483f3de680b7c43c7619e8689ea8e7d732\
         3e36023054058be106159f1eac0ea28c29a7daf3cf2b31c4fd889333f6f7744cdbafcf66e0738df3dbc64984c4f18a30f3c8\
         1112",
    ),
    (
        Hash::Sha512,
        "3076301006072a8648ce3d020106052b81040022036200049636087a030322968a7c3a4ecfb68cdf1495a6198b5cdc1c6e8f\
         331cd1ea90228964820a1ae6847ea85241dc602af24593f93545ec0082ec11a7c17c081d0f0a8c811d08c8f38e0ef70045ea\
         b3d3a1f61102d38aebcc6e52eeb28a5f7364e992",
        "30640230368ee5b9b7cd1748103cf620662ea980b113356a5c683e71d9a8be70e2dcca01588b00450df3b50208bed7fa5f4b\
         8dd402306e0c21e14d38025145a022bdf55a1fd765459c500d9dd0ce327c6e40e496d3a97b276c5a20f98ea24e9c650793de\
         7413",
    ),
    (
        Hash::Sha256,
        "30819b301006072a8648ce3d020106052b810400230381860004003dac0cb6f040d0c1abc1dd6b62eef1dbd7ff74ee9017dc\
         e21341c06850a19e63daaab49d7b74e1ab4cd890bdc743f5c51667c396f0a6581aad17ef29c4724a884c01442fd5c2c6e5fc\
         515dc84cd4f58b4c1de30e5495974773cdce4414c667757cca5ebac3ff757dcf86b96a034224787dd853d33a95b92bbffdd4\
         eee406bc3ed7a160",
        "308187024124714a672557a682e62b0afc33b1dc84572dee3f6c968c8f90bfdec6b34420be86cebc95ec151f4a35163483a3\
         47a4ded39c141e0114f7f0a65c3f7a69d8deb585024201c72a88eeaec84ea18d399e1949202c4d6cbd8a63a3aba103c2e836\
         d493ec6785d5008ce2c1be8c10db7071ebcd0b55215e2002c59ea2a005a436bd80707ad3fb23",
    ),
    (
        Hash::Sha512,
        "30819b301006072a8648ce3d020106052b810400230381860004003dac0cb6f040d0c1abc1dd6b62eef1dbd7ff74ee9017dc\
         e21341c06850a19e63daaab49d7b74e1ab4cd890bdc743f5c51667c396f0a6581aad17ef29c4724a884c01442fd5c2c6e5fc\
         515dc84cd4f58b4c1de30e5495974773cdce4414c667757cca5ebac3ff757dcf86b96a034224787dd853d33a95b92bbffdd4\
         eee406bc3ed7a160",
        "3081880242014ef35d0327f793d9bba6f381ab7718f51f66bf41c6551c73740c4517f99bdb5efb92efd102568249e0811706\
         3c3a7f5159a527822c64bbeafdb3b4adc6cff052750242016fd071a98d5ce199663717aa3d1467aff24d4918c8366348026e\
         aba36348ea7c9b45521180b34675d4e867cf0c34d7beb5409d9069b2a3dfc8b0faa0e4d74af05f",
    ),
];

/// Signatures of RSA by keys of 1,024, 1,025 and 1,030 bits.
const RSA: [(SignatureAlgorithm, &str, &str); 6] = [
    (
        SignatureAlgorithm::RsaPkcs1(Hash::Sha256),
        "30819f300d06092a864886f70d010101050003818d0030818902818100a65bbf265f3a8acece8d4bf104d1bc1902e0b37f1a\
         c237a6f6ae4b076f2d64ead18f6dabfd282af3c0fc293e7e54dc8f518474f7ed8756ca6c454539a546ae5fa0dbdb61355d93\
         11603534081b7ff18c25fa524230c375d1d50a437eabca4addbbc54b26ec9afc3f7322a0bb455ec1414e45e7251f439f3d74\
         9a9842148295cd0203010001",
        "272928aba112aeeffde0b2735bc5ff29227ceda57204fede0159a2b9c2652487601017acb14073df94b69a1c8106b7958ea5\
         ea7f6b425325cbceb1e2b5387f2ec6d6f72a1633b6afb71d65ae9721649391ccae982efdd049edbafe0977959f35186a9e1e\
         c6929fbd5c508bc0affe7c80755afc2638d9cb3b102f17eb478c1fb8",
    ),
    (
        SignatureAlgorithm::RsaPss(Hash::Sha384),
        "30819f300d06092a864886f70d010101050003818d0030818902818100a65bbf265f3a8acece8d4bf104d1bc1902e0b37f1a\
         c237a6f6ae4b076f2d64ead18f6dabfd282af3c0fc293e7e54dc8f518474f7ed8756ca6c454539a546ae5fa0dbdb61355d93\
         11603534081b7ff18c25fa524230c375d1d50a437eabca4addbbc54b26ec9afc3f7322a0bb455ec1414e45e7251f439f3d74\
         9a9842148295cd0203010001",
        "5f42f99a091d12491925f1a0c898e05cbaab883eedd83f759048a43022a7e73fcdd3f642ed944eaf6e63c0c180a9ef2dad3c\
         28fcd47e10cf5dd0d0135a3ab7eb3edd6cba188cf542b9f3cc3b0529783db9f33d25b86a6ed464aa0a688e0daacd07e4e256\
         76a66458a5997381021b4a8cf91d3c5335b4d2bf6d983b9d868a1db4",
    ),
    (
        SignatureAlgorithm::RsaPkcs1(Hash::Sha256),
        "30819f300d06092a864886f70d010101050003818d003081890281810180292fca32c38eeec044f82d491ca51d0670d68697\
         79c7ac561aab1563286c2f6adac4587f2fadb4b8d490026235fe809191860295ba8ecd8d6997558fb5589a3672aeda6af1c2\
         9ebf1dca30389f48748496a2a051d2bfc8ccb6cf74b7070d201c309aefd0c2a58c139b8a26c5bd2af1ae239b23b6d84417b0\
         5208b5d485a8290203010001",
        "00a53ce766e3e66ad226600ddd11d4d79bfb32a41d5e1dcb7e4bbf006b53abfda3b8e0d5d2a490f334b1831d3def4ffb80ee\
         5a2d143bfb9b3c619989a856da93202bc440e8bc5be892756b6d149b9d20f042b5310ade00909bddf17801f8ecf3ef665989\
         8899f6af37a13e8d70d37962dfabc0668463cb6aaa08d1ef571a15de26",
    ),
    (
        SignatureAlgorithm::RsaPss(Hash::Sha384),
        "30819f300d06092a864886f70d010101050003818d003081890281810180292fca32c38eeec044f82d491ca51d0670d68697\
         79c7ac561aab1563286c2f6adac4587f2fadb4b8d490026235fe809191860295ba8ecd8d6997558fb5589a3672aeda6af1c2\
         9ebf1dca30389f48748496a2a051d2bfc8ccb6cf74b7070d201c309aefd0c2a58c139b8a26c5bd2af1ae239b23b6d84417b0\
         5208b5d485a8290203010001",
        "00d0ee527f4d406a3a68ef915f95db55fff7b95cd1ed8f967da2f2e987771281b3dfbe523c95783231087eda661f6b667b24\
         006fdb6dc5a5e6e61cb6e48620c808c61ab736a4745298fa3d0b9ac2572668ce804911377e4bfe54d123404adf148d2756f5\
         249e0073e245150291e260f3f30673b568ee0e198916d7ed0af97b9eb1",
    ),
    (
        SignatureAlgorithm::RsaPkcs1(Hash::Sha256),
        "30819f300d06092a864886f70d010101050003818d0030818902818139f9a10fba46c695c777ff45d25191f70f2c10beea65\
         9e5f9c301d33b584e1d30af9014e0832b97c4bace4557f1fa040bdd7ef99831cb0e542f6990cab2229c468c1293196a41e8e\
         b95b5a75df200a0f5c3ddee279fe942171089e0f38016e44cf0802a868650deb1cae1c409a45e64e613ed3b2a0d58b8e9a2d\
         ed183bf2e9f08b0203010001",
        "1a044a969904c40ed9f07e544494522d326d9a86aef64e959ad67c4ba77e2051a383f6f0709f40478d9f3aab23aa951d4eae\
         65feb61283a89767a06ec858109a884ddff3168fe3639679c3953b0b7bc3132e26e682ff8444ebc9b724f611c77abf254c4f\
         8871902c180e2987cde5d598d1204b1cafa9be6b262015a5953e0bb5d1",
    ),
    (
        SignatureAlgorithm::RsaPss(Hash::Sha384),
        "30819f300d06092a864886f70d010101050003818d0030818902818139f9a10fba46c695c777ff45d25191f70f2c10beea65\
         9e5f9c301d33b584e1d30af9014e0832b97c4bace4557f1fa040bdd7ef99831cb0e542f6990cab2229c468c1293196a41e8e\
         b95b5a75df200a0f5c3ddee279fe942171089e0f38016e44cf0802a868650deb1cae1c409a45e64e613ed3b2a0d58b8e9a2d\
         ed183bf2e9f08b0203010001",
        "0c40dad7a8d7935b0c62644200c1367bdde4bf2e3d8435df387eb6a4ea6e0ce87a12170d0abcb0a9677b51309784d516a517\
         7631a5990e6a4dd9005ea1147e92bfc55354ecf862f2085375a64abc3607ed1ee73437c62c9d7c28b34eef85bff94a197750\
         14e1a5b53301e1e791211c62b076a3b8d2cdae4fa07b4ac52c7f381a98",
    ),
];

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    let octets = pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap());
    octets.collect()
}

fn key(der: &[u8]) -> SubjectPublicKeyInfo<'_> {
    SubjectPublicKeyInfo::from_der(der).unwrap().1
}

#[test]
fn signatures_of_ecdsa_are_verified_on_each_curve() {
    for (hash, der, signature) in ECDSA {
        let (der, signature) = (bytes(der), bytes(signature));
        let key = key(&der);
        let curve = super::curve_of(&key).unwrap();
        let point = &key.subject_public_key.data;
        let digest = hash.digest(&[MESSAGE]);
        let is_valid = |signature: &[u8]| ecdsa::verify(curve, point, &digest, signature);
        assert!(is_valid(&signature), "{curve:?} {hash:?}");
        let algorithm = SignatureAlgorithm::Ecdsa(hash);
        assert_eq!(verify(&key, algorithm, MESSAGE, &signature), Ok(()));
        assert_eq!(
            verify(&key, algorithm, b"other", &signature),
            Err(SignatureError::Ecdsa)
        );
        let is_of_ring = curve != Curve::P521 && hash != Hash::Sha512;
        assert_eq!(ring_ecdsa(curve, hash).is_some(), is_of_ring);
        assert!(!ecdsa::verify(
            curve,
            point,
            &hash.digest(&[b"other"]),
            &signature
        ));
        let mut changed = signature.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(!is_valid(&changed));
        assert!(!is_valid(&[&*signature, &[0]].concat()));
        // Zero, and negative numbers.
        assert!(!is_valid(&[0x30, 6, 2, 1, 0, 2, 1, 0]));
        assert!(!is_valid(&[0x30, 6, 2, 1, 0xff, 2, 1, 0xff]));
        let mut beside = point.to_vec();
        *beside.last_mut().unwrap() ^= 1;
        assert!(!ecdsa::verify(curve, &beside, &digest, &signature));
        assert!(!ecdsa::verify(curve, &point[1..], &digest, &signature));
    }
}

#[test]
fn signatures_of_short_keys_of_rsa_are_verified() {
    for (algorithm, der, signature) in RSA {
        let (der, signature) = (bytes(der), bytes(signature));
        let key = key(&der);
        let checked =
            |message: &[u8], signature: &[u8]| verify(&key, algorithm, message, signature);
        assert_eq!(checked(MESSAGE, &signature), Ok(()), "{algorithm:?}");
        assert_eq!(checked(b"other", &signature), Err(SignatureError::Rsa));
        let mut changed = signature.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert_eq!(checked(MESSAGE, &changed), Err(SignatureError::Rsa));
        assert_eq!(checked(MESSAGE, &signature[1..]), Err(SignatureError::Rsa));
        let other = match algorithm {
            SignatureAlgorithm::RsaPss(hash) => SignatureAlgorithm::RsaPkcs1(hash),
            _ => SignatureAlgorithm::RsaPss(Hash::Sha256),
        };
        assert_eq!(
            verify(&key, other, MESSAGE, &signature),
            Err(SignatureError::Rsa)
        );
        assert_eq!(
            verify(&key, SignatureAlgorithm::Ed25519, MESSAGE, &signature),
            Err(SignatureError::WrongKey)
        );
    }
}
